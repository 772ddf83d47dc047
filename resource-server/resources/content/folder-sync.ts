import { open } from 'node:fs/promises';
import { createInTurn } from '../../../shared/base/in-turn.ts';

/**
 * Makes the names in a folder durable, those that are in it when this is called. Who asks while it is under
 * way for others waits for the next time, together with all who wait.
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
