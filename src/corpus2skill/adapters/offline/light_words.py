"""Words that questions use and answers need not: they tell little about whether a text answers.

Verbs of every day, measures and what is asked about anything: a text that answers `How much is the annual plan?`
says neither `much` nor `price`. A small corpus cannot tell them from the rare nouns of its field by counting.
"""

from __future__ import annotations

import re

from corpus2skill.adapters.offline.words import index_words

LIGHT_LATIN = frozenset(
    index_words(
        """
    get got take took make made give gave put go goes going gone went come came done bring keep let use work want
    need like look see find know tell say ask think mean happen start begin end stop finish change set turn run open
    close show try help call become leave move allow able meet sit stand stay lose lost hold held carry spend spent
    charge pay paid buy sell expect refer mention state apply occur cause result exist include contain provide offer
    require create add remove delete enable configure support handle perform specify describe explain please
    promise mind second minute hour week month year total
    cost price free number amount time times size kind type sort way thing something anything everything someone
    anyone person people place part day name period range level point case example reason purpose difference between
    plan option question problem issue step process list rate rule information detail service lot money
    long short often big large small high low old new good bad fast slow early late full far near deep heavy wide
    tall warm cold hot hard easy best better worse first last next much many different same certain main whole
    possible available own else still already always ever never again back away around without instead
    """
    )
)
"""General English verbs, measures and adjectives, as index words."""

LIGHT_KANJI = frozenset(
    re.findall(
        r"\S+",
        """
    場合 以下 以上 以外 以内 必要 可能 方法 利用 使用 確認 説明 内容 関係 関連 情報 大丈 丈夫 自分 現在 全体 種類 基本 時間 仕事
    今年 最初 最後 一番 普通 全部 理由 目的 意味 名前 名称 言葉 番号 場所 人物
    値段 価格 料金 代金 金額 費用 期間 期限 時刻 日時 日程 人数 回数 年齢 寸法
    中 前 後 上 下 人 方 時 日 年 月 今 物 事 所 内 外 間 他 際 者 私 次 朝 昼 夜
    """,
    )
)
"""The same in Japanese: pairs of kanji, and single ones that stand alone."""

LIGHT_KATAKANA = frozenset(
    ("メートル", "センチ", "ミリ", "キロ", "グラム", "リットル", "パーセント", "サイズ", "タイプ", "ケース")
)
