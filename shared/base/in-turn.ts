/** Does work with the same key one after the other, whether or not the work before it fails. */
export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Orders the work of this process alone: it spares work that is bound to be overtaken, and excludes nobody. */
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
