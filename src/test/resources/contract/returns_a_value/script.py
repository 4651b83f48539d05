def main(request):
    return {"n": request.payload["n"] + 1}
