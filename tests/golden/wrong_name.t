output z = nosuch(1)
