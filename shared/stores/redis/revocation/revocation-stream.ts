import type { Revocation } from '#shared/stores/revocation/revocations.ts';

/** The three keys of revocation; the hash tag keeps them in one slot. */
export function revocationKeys(prefix: string) {
  return {
    stream: `{${prefix}}:revocations`,
    generations: `{${prefix}}:generations`,
    epoch: `{${prefix}}:epoch`,
  } as const;
}

/** An entry of the stream; `epoch` says that the store has a new memory. */
export type StreamEntry =
  | (Revocation & { readonly until: number })
  | { readonly kind: 'epoch'; readonly id: string };

/**
 * Reads the fields of an entry, names and values in turn.
 * Throws for a kind it does not know: what cannot be understood must not be passed over.
 */
export function streamEntry(fields: readonly string[]): StreamEntry {
  const values = new Map<string, string>();
  for (let n = 0; n + 1 < fields.length; n += 2) values.set(fields[n] ?? '', fields[n + 1] ?? '');
  const kind = values.get('kind');
  const id = values.get('id');
  const generation = Number(values.get('generation'));
  const until = Number(values.get('until'));
  if (id !== undefined && Number.isSafeInteger(generation) && Number.isFinite(until)) {
    if (kind === 'epoch') return { kind, id };
    if (kind === 'token' || kind === 'grant' || kind === 'key') return { kind, id, until };
    if (kind === 'person' || kind === 'client') return { kind, id, generation, until };
  }
  throw new Error(`an entry of the revocations cannot be understood: ${fields.join(' ')}`);
}

/** Identifies an entry: milliseconds of the server's clock and a number within them. */
export type EntryId = `${number}-${number}`;

export const isEntryId = (text: string): text is EntryId => /^\d{1,15}-\d{1,15}$/.test(text);

export type Entries = readonly (readonly [EntryId, string[]])[];

/** Before every entry. */
export const STREAM_START: EntryId = '0-0';
