def main(request):
    return request.payload +* 2
