import { open } from 'node:fs/promises';
import { createInTurn } from '../../../shared/base/in-turn.ts';

/**
 * Makes the names durable that are in a folder at the time of the call. A call during a running sync waits for the
 * next one, which serves all waiting callers.
 */
export type FolderSync = (folder: string) => Promise<void>;

export function createFolderSync(sync: FolderSync = syncNow): FolderSync {
  const inTurn = createInTurn();
  const waiting = new Map<string, Promise<void>>();

  function begin(folder: string): Promise<void> {
    const turn = inTurn(folder, () => {
      waiting.delete(folder);
      return sync(folder);
    });
    waiting.set(folder, turn);
    return turn;
  }
  return (folder) => waiting.get(folder) ?? begin(folder);
}

async function syncNow(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
