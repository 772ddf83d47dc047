/** One question for all who wait: each gets the answer to one that was asked after they came. */
export function forAll<T>(ask: () => Promise<T>): () => Promise<T> {
  let asking: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = async () => {
    await asking;
    next = undefined;
    const answer = ask();
    asking = answer.catch(() => {});
    return answer;
  };
  return () => (next ??= begin());
}
