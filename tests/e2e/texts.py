"""The documents that the command line is tried on."""

from __future__ import annotations

JAPANESE = {
    "利用規約.md": """# サンプル利用規約

## 第12条（年額プランの解約）

年額プランの解約は、契約管理画面の「解約申請」から行うものとし、契約期間の末日までサービスを利用できる。日割りによる返金は行わない。

## 第13条（月額プランの解約）

月額プランの解約は、申請した月の末日をもって終了する。翌月以降の料金は発生しない。申請は毎月末日の午後6時までに行う。
""",
    "料金.csv": "プラン,料金,備考\n年額プラン,98000円,一括前払い\n月額プラン,9800円,毎月1日に請求\n",
    "案内/営業時間.txt": """お問い合わせ窓口のご案内

電話窓口の営業時間は、平日の午前9時から午後5時までです。土曜日、日曜日、祝日は休業します。メールは24時間受け付けます。
""",
}
ENGLISH = {
    "terms.md": """# Sample terms

## Cancelling the annual plan

The annual plan is cancelled on the contract page. The service stays open until the last day of the term. There is no refund for unused months.

## Cancelling the monthly plan

The monthly plan ends on the last day of the month in which it is cancelled. No further fee is charged after that.
""",
    "hours.txt": "Telephone support is open from nine to five on weekdays. Mail is answered within two working days.\n",
}
ANNUAL = {"ja": "年額プランを解約すると返金されますか？", "en": "Is there a refund for the annual plan?"}
UNKNOWN = {"ja": "社員食堂の今週の献立を教えてください。", "en": "What does the canteen serve on Thursdays?"}
DOCUMENTS = {"ja": JAPANESE, "en": ENGLISH}
