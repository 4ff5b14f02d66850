output u = rand([4], key=7), n = randint([6], 0, 100, key=7)
