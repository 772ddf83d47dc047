/**
 * Returns a function that asks one question for all waiting callers: each gets the answer to a question that was
 * asked after the caller came. If a question fails, callers that came meanwhile fail as well, since they would
 * otherwise wait as long again. `gather`: waits before each question, until more callers may have come.
 */
export function forAll<T>(
  ask: () => Promise<T>,
  gather?: () => Promise<unknown>,
): () => Promise<T> {
  let asking: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  async function begin(): Promise<T> {
    try {
      await Promise.all([asking, gather?.()]);
    } finally {
      next = undefined;
    }
    asking = ask();
    try {
      return await asking;
    } finally {
      asking = undefined;
    }
  }
  return () => (next ??= begin());
}
