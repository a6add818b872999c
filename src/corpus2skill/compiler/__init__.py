"""The first line: documents to a published tree. File order is data order."""
