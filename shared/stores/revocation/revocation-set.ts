import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { Revocation, RevocationView, RevokedBy } from './revocations.ts';

type Kind = Revocation['kind'];

/** Entries of one sweep: a sweep of a million would block all requests. */
const SLICE = 1_000;

/** The revocations of a process: a check is a few map lookups. Rows that are read again are merged. */
export class RevocationSet implements RevocationView {
  #epoch: string | undefined;
  #countedIn: string | undefined;
  readonly #until: Record<Kind, Map<string, number>> = {
    token: new Map(),
    grant: new Map(),
    key: new Map(),
    person: new Map(),
    client: new Map(),
  };
  readonly #generation: Record<'person' | 'client', Map<string, number>> = {
    person: new Map(),
    client: new Map(),
  };

  /** The number of each person's last raise. */
  readonly #raised = new Map<string, number>();
  #raises = 0;

  readonly #walk = this.#entries();

  get raises(): number {
    return this.#raises;
  }

  get epoch(): string | undefined {
    return this.#epoch;
  }

  /** Set the epoch before its rows are applied: another epoch counts generations from the beginning. */
  set epoch(epoch: string | undefined) {
    this.#epoch = epoch;
    if (epoch === undefined || epoch === this.#countedIn) return;
    this.#countedIn = epoch;
    for (const kind of ['person', 'client'] as const) {
      this.#until[kind].clear();
      this.#generation[kind].clear();
    }
    this.#raised.clear();
  }

  get size(): number {
    return Object.values(this.#until).reduce((sum, entries) => sum + entries.size, 0);
  }

  /** `until`: milliseconds since the epoch. The later `until` and the higher generation win. */
  apply(revocation: Revocation, until: number): void {
    const entries = this.#until[revocation.kind];
    entries.set(revocation.id, Math.max(until, entries.get(revocation.id) ?? 0));
    if (revocation.kind === 'person' || revocation.kind === 'client') {
      this.#raise(revocation);
    }
  }

  #raise({ kind, id, generation }: Extract<Revocation, { generation: number }>): void {
    const generations = this.#generation[kind];
    if (generation <= (generations.get(id) ?? 0)) return;
    generations.set(id, generation);
    if (kind === 'client') return;
    this.#raises += 1;
    this.#raised.set(id, this.#raises);
  }

  /** Forgets entries that ended before `now` (milliseconds since the epoch), in turn at each call. */
  sweep(now: number): void {
    for (let looked = 0; looked < SLICE; looked += 1) {
      const entry = this.#walk.next().value;
      if (entry === undefined) return;
      const [kind, id, until] = entry;
      if (until > now) continue;
      this.#until[kind].delete(id);
      if (kind === 'person' || kind === 'client') this.#generation[kind].delete(id);
      if (kind === 'person') this.#raised.delete(id);
    }
  }

  /** Yields all entries again and again, and undefined after each round. */
  *#entries(): Generator<readonly [Kind, string, number] | undefined, never> {
    for (;;) {
      for (const kind of Object.keys(this.#until) as Kind[]) {
        for (const [id, until] of this.#until[kind]) yield [kind, id, until];
      }
      yield undefined;
    }
  }

  revokedBy(claims: RevocableClaims): RevokedBy | undefined {
    if (claims.epoch !== this.epoch) return 'epoch';
    if (this.#until.token.has(claims.jti)) return 'token';
    if (claims.grant_id !== undefined && this.#until.grant.has(claims.grant_id)) return 'grant';
    if (this.#until.key.has(claims.kid)) return 'key';
    if (claims.client_gen < (this.#generation.client.get(claims.client_id) ?? 0)) return 'client';
    const raised = this.generation(claims.sub);
    return claims.sub_gen !== undefined && claims.sub_gen < raised ? 'person' : undefined;
  }

  generation(id: string): number {
    return this.#generation.person.get(id) ?? 0;
  }

  raisedSince(id: string, raises: number): boolean {
    return (this.#raised.get(id) ?? 0) > raises;
  }
}
