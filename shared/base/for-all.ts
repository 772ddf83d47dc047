/**
 * Asks one question for all callers that wait: each gets the answer to a question that was asked after it came. If a
 * question fails, the callers that came meanwhile fail as well: otherwise they would wait for as long once more.
 * `gather`: waits before each question, until more callers may have come.
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
