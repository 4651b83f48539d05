def mian(request):
    return 1
