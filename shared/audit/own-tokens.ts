const MINUTE = 60_000;

/** The tokens that an application got on its own behalf in one minute from this process. */
interface Count {
  readonly client: string;
  readonly type: string;
  readonly minute: number;
  /** Settled when the event of the first token is written. */
  readonly first: Promise<void>;
  /** How many tokens followed the first. */
  more: number;
}

export type OwnTokenCounts = Map<string, Count>;

/**
 * Counts a token. `record` records the first token of an application, grant type and minute, and all tokens of that
 * minute wait for it. Rejects as `record` does; the next token then is the first.
 */
export async function countToken(
  counts: OwnTokenCounts,
  { client, type, now }: Pick<Count, 'client' | 'type'> & { readonly now: number },
  record: () => Promise<void>,
): Promise<void> {
  const minute = Math.floor(now / MINUTE);
  const key = `${minute} ${type} ${client}`;
  const known = counts.get(key);
  if (known !== undefined) {
    known.more += 1;
    return known.first;
  }
  const first = record();
  counts.set(key, { client, type, minute, first, more: 0 });
  try {
    await first;
  } catch (error) {
    counts.delete(key);
    throw error;
  }
}

/**
 * Passes `append` an event for each count of the minutes before `now`, and forgets these counts. Rejects as `append`
 * does, and then forgets none.
 */
export async function tellCounts(
  counts: OwnTokenCounts,
  now: number,
  append: (events: readonly ReturnType<typeof moreOf>[]) => Promise<void>,
): Promise<void> {
  const over = [...counts].filter(([, { minute }]) => (minute + 1) * MINUTE <= now);
  for (const [key] of over) counts.delete(key);
  const told = over.filter(([, { more }]) => more > 0);
  if (told.length === 0) return;
  try {
    await append(told.map(([, count]) => moreOf(count)));
  } catch (error) {
    for (const [key, count] of told) counts.set(key, count);
    throw error;
  }
}

const moreOf = ({ client, type, minute, more }: Count) =>
  ({
    kind: 'client-token.issued-more',
    client,
    type,
    count: more,
    before: new Date((minute + 1) * MINUTE).toISOString(),
  }) as const;
