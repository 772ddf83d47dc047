import { createHash } from 'node:crypto';

/** Streams for entries without a change, so that no server takes all of them. */
const SPREAD = 8;

/** The slots of whatever can be changed with an entry: that of the revocations, and hashes with a slot of their own. */
const CHANGED = ['', ':clients', ':keys', ':gateway-keys'] as const;

/** The streams of open entries. An entry is in the slot of its change, so that one script writes both. */
export interface AuditStreams {
  readonly all: readonly string[];
  /** Returns the stream in the slot of a key. Throws if nobody would read that one. */
  of(key: string): string;
  /** Returns the stream of an entry without a change. */
  for(text: string): string;
}

/** `slots`: the slots of people's and clients' keys. */
export function auditStreams(prefix: string, slots: readonly string[]): AuditStreams {
  const named = (tag: string) => `{${tag}}:audit-open`;
  const spread = Array.from({ length: SPREAD }, (_, n) => named(`${prefix}:audit-${n}`));
  const changed = CHANGED.map((name) => named(prefix + name));
  const log = named(`${prefix}:audit`);
  const ofSlots = slots.map((slot) => `${slot}:audit-open`);
  const all = [...new Set([...changed, log, ...spread, ...ofSlots])];
  return {
    all,
    of(key) {
      const stream = named(/\{([^}]+)\}/.exec(key)?.[1] ?? key);
      if (!all.includes(stream)) throw new Error(`no audit entries are read in the slot of ${key}`);
      return stream;
    },
    for: (text) => spread[(createHash('sha1').update(text).digest()[0] ?? 0) % SPREAD] ?? log,
  };
}
