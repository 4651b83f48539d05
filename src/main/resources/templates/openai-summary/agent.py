import os

import requests
from bs4 import BeautifulSoup
from openai import OpenAI

MOST_CHARACTERS = 60_000
INSTRUCTIONS = "Summarise the text in at most {words} words, in its own language. Use plain sentences."


def main(request):
    options = request.payload
    text = options.get("text") or text_of(options["url"])
    if len(text) > MOST_CHARACTERS:
        print(f"The text has {len(text):,} characters; the first {MOST_CHARACTERS:,} are summarised")
    client = OpenAI(api_key=os.environ["OPENAI_API_KEY"], timeout=120)
    answer = client.chat.completions.create(
        model=options.get("model", "gpt-4o-mini"),
        messages=[
            {"role": "system", "content": INSTRUCTIONS.format(words=options.get("words", 100))},
            {"role": "user", "content": text[:MOST_CHARACTERS]},
        ],
    )
    usage = answer.usage
    print(f"{usage.prompt_tokens} tokens in, {usage.completion_tokens} out")
    return {"summary": answer.choices[0].message.content, "tokens": usage.total_tokens}


def text_of(url):
    response = requests.get(url, timeout=20)
    response.raise_for_status()
    page = BeautifulSoup(response.content, "html.parser")
    for element in page(["script", "style", "nav", "footer"]):
        element.decompose()
    return page.get_text("\n", strip=True)
