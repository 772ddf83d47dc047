/**
 * One question for all who wait: each gets the answer to one that was asked after they came. When one fails, those
 * who came meanwhile hear so as well: else they would wait for as long once more. `gather`: waits until more may
 * have come, before each question.
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
