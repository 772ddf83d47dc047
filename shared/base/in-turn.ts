/** Runs work with the same key in sequence, whether or not the earlier work fails. */
export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Creates an `InTurn` for the work of this process. It avoids work that would be repeated, and is no lock against
 * other processes.
 */
export function createInTurn(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, turn);
    try {
      return await turn;
    } finally {
      if (last.get(key) === turn) last.delete(key);
    }
  };
}
