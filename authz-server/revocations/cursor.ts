import type { FeedPosition } from '#shared/stores/revocation/feed-position.ts';

/**
 * The cursor that a follower sends back: its position in the feed, and its own identifier among the followers of its
 * client.
 */
export interface Cursor extends FeedPosition {
  readonly follower: string;
}

const CURSOR = /^(?<entry>\d{1,15})\.(?<follower>[\w-]{22})\.(?<epoch>[\w-]{22,64})$/;

export function writeCursor({ entry, follower, epoch }: Cursor): string {
  return `${entry}.${follower}.${epoch}`;
}

/** Returns undefined for text that no server wrote. */
export function readCursor(text: string): Cursor | undefined {
  const { entry, follower, epoch } = CURSOR.exec(text)?.groups ?? {};
  if (entry === undefined || follower === undefined || epoch === undefined) return undefined;
  return { entry: Number(entry), follower, epoch };
}
