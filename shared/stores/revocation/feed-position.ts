/** A position in a feed: the epoch of the store, and the entry before it. */
export interface FeedPosition {
  readonly epoch: string;
  readonly entry: number;
}

export function writePosition({ epoch, entry }: FeedPosition): string {
  return `${epoch}:${entry}`;
}

/** Undefined: not a position. */
export function readPosition(text: string): FeedPosition | undefined {
  const [, epoch, entry] = /^([\w-]+):(\d{1,15})$/.exec(text) ?? [];
  return epoch === undefined || entry === undefined ? undefined : { epoch, entry: Number(entry) };
}
