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
  const [aDash, bDash] = [dashOf(a), dashOf(b)];
  const [aTime, bTime] = [Number(a.slice(0, aDash)), Number(b.slice(0, bDash))];
  if (aTime !== bTime) return aTime < bTime;
  return Number(a.slice(aDash + 1)) < Number(b.slice(bDash + 1));
}

/** Where the number of an entry of its millisecond begins; the end where there is none, which is 0. */
function dashOf(entry: string): number {
  const dash = entry.indexOf('-');
  return dash < 0 ? entry.length : dash;
}
