"""The second line: from a question to an answer with its trail (the article, Parts 2 and 3)."""
