/** Does work with the same key one after the other, whether or not the work before it fails. */
export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** It orders only the work of this process. It saves work that would be overtaken, and is no lock against other processes. */
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
