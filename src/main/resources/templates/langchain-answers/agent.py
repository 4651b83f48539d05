import math
import os
import re
from collections import Counter

from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI
from langchain_text_splitters import RecursiveCharacterTextSplitter

PROMPT = ChatPromptTemplate.from_messages(
    [
        ("system", "Answer from the sources alone, and name them like [1]. If they don't say it, say so."),
        ("human", "{sources}\n\nQuestion: {question}"),
    ]
)


def main(request):
    documents = request.payload["documents"]
    splitter = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=100)
    chunks = [(name, part) for name, text in documents.items() for part in splitter.split_text(text)]
    question = request.payload["question"]
    best = ranked(question, chunks)[: request.payload.get("sources", 4)]
    print(f"{len(chunks)} parts, {len(best)} used: {', '.join(sorted({name for name, _ in best}))}")
    model = ChatOpenAI(
        model=request.payload.get("model", "gpt-4o-mini"),
        api_key=os.environ["OPENAI_API_KEY"],
        temperature=0,
        timeout=120,
    )
    sources = "\n\n".join(f"[{i}] {name}: {part}" for i, (name, part) in enumerate(best, 1))
    answer = (PROMPT | model).invoke({"sources": sources, "question": question})
    return {"answer": answer.content, "sources": [name for name, _ in best]}


def ranked(question, chunks):
    """The chunks by BM25 (k1 = 1.5, b = 0.75), without those that share no word with the question."""
    counts = [Counter(words(part)) for _, part in chunks]
    average = sum(map(Counter.total, counts)) / max(1, len(counts)) or 1

    def score(count):
        total = 0.0
        for word in set(words(question)):
            if count[word]:
                containing = sum(word in other for other in counts)
                rarity = math.log(1 + (len(counts) - containing + 0.5) / (containing + 0.5))
                length = 0.25 + 0.75 * count.total() / average
                total += rarity * count[word] * 2.5 / (count[word] + 1.5 * length)
        return total

    scored = sorted(zip(map(score, counts), chunks), key=lambda pair: -pair[0])
    return [chunk for points, chunk in scored if points > 0]


def words(text):
    return re.findall(r"\w+", text.lower())
