/**
 * One question for all who wait: each gets the answer to one that was asked after they came. `gather`: waits
 * until more may have come, before each question.
 */
export function forAll<T>(
  ask: () => Promise<T>,
  gather?: () => Promise<unknown>,
): () => Promise<T> {
  let asking: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const begin = async () => {
    await Promise.all([asking, gather?.()]);
    next = undefined;
    const answer = ask();
    asking = answer.catch(() => {});
    return answer;
  };
  return () => (next ??= begin());
}
