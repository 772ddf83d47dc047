/** Where somebody stands in a feed: in which memory of the store, and behind which entry of it. */
export interface FeedPosition {
  readonly epoch: string;
  readonly entry: number;
}

export function writePosition({ epoch, entry }: FeedPosition): string {
  return `${epoch}:${entry}`;
}

/** Undefined for what nobody wrote. */
export function readPosition(text: string): FeedPosition | undefined {
  const [, epoch, entry] = /^([\w-]+):(\d{1,15})$/.exec(text) ?? [];
  return epoch === undefined || entry === undefined ? undefined : { epoch, entry: Number(entry) };
}
