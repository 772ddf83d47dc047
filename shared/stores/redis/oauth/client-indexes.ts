import type { Slots } from '../connection/slots.ts';

/** The names of the sorted sets of what people and machines have allowed one client. */
export interface ClientIndexes {
  /** That of an artefact, in its slot: a client that everybody uses must not send everybody to one. */
  of(kind: string, clientId: string, id: string): string;
  all(kind: string, clientId: string): readonly string[];
}

export function clientIndexes(slots: Slots): ClientIndexes {
  const named = (slot: string, kind: string, clientId: string) =>
    `${slot}:client:${kind}:${clientId}`;
  return {
    of: (kind, clientId, id) => named(slots.of(id), kind, clientId),
    all: (kind, clientId) => slots.all.map((slot) => named(slot, kind, clientId)),
  };
}
