def main(request):
    print("snowman \u2603, rocket \U0001f680, lone \ud800, null \0")
    return request.payload
