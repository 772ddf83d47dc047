/** Where somebody stands in a feed: in which memory of the store, and behind which entry of it. */
export interface FeedPosition {
  readonly epoch: string;
  /** A seq or the id of an entry of a stream. */
  readonly entry: string;
}

export function writePosition({ epoch, entry }: FeedPosition): string {
  return `${epoch}:${entry}`;
}

/** Undefined for what nobody wrote. */
export function readPosition(text: string): FeedPosition | undefined {
  const [, epoch, entry] = /^([\w-]+):(\d+(?:-\d+)?)$/.exec(text) ?? [];
  return epoch === undefined || entry === undefined ? undefined : { epoch, entry };
}

/** Whether an entry of a feed was written before another of the same. */
export function precedes(a: string, b: string): boolean {
  if (a === b) return false;
  const [aTime = 0, aNumber = 0] = a.split('-').map(Number);
  const [bTime = 0, bNumber = 0] = b.split('-').map(Number);
  return aTime === bTime ? aNumber < bNumber : aTime < bTime;
}
