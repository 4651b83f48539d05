def main(request):
    return request.payload
