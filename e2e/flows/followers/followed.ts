/**
 * The pair with remote servers that follow its revocations, and the verdicts of these followers right after
 * an acknowledgement.
 */
import { randomUUID } from 'node:crypto';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { NODE_FLAGS } from '#shared/start/options.js';
import { allStarted, NODE, type RunningProcess, startProcess } from '../../parts/process.ts';
import type { PairOptions } from '../../pair/pair.ts';
import { type Client, type Flow, startFlow, startFlowOn, type StoreKind } from '../flow.ts';

const FOLLOWER = new URL('follower.ts', import.meta.url).pathname;
const PORT = /listening at (\d+)\n/;
/** Milliseconds: a paused follower does not answer. */
const SILENT = 1_000;

/** One remote server that follows the revocations. */
export class FollowerProcess implements AsyncDisposable {
  readonly process: RunningProcess;
  readonly #leave: () => void;

  /** `leave`: removes this follower from the test's list. */
  constructor(process: RunningProcess, leave: () => void) {
    this.process = process;
    this.#leave = leave;
  }

  /**
   * Returns the follower's verdict on a token with these claims: 200, 401, 503, or 0 without an answer
   * within `patience` milliseconds.
   */
  async verdict(claims: RevocableClaims, patience = SILENT): Promise<number> {
    const port = PORT.exec(this.process.output)?.[1];
    const url = `http://127.0.0.1:${port}/?${encodeURIComponent(JSON.stringify(claims))}`;
    const signal = AbortSignal.timeout(patience);
    return fetch(url, { signal }).then(
      ({ status }) => status,
      () => 0,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave();
    await this.process.kill();
  }
}

export interface FollowedFlow extends AsyncDisposable {
  readonly flow: Flow;
  /** The client of the followers. */
  readonly client: Client;
  readonly followers: ReadonlySet<FollowerProcess>;
  /** Starts one more follower of the authorization server at this address, until it is disposed of. */
  follow(authz: string): Promise<FollowerProcess>;
  /** Claims of a token that is not revoked. */
  claims(changes?: Partial<RevocableClaims>): RevocableClaims;
  /**
   * Returns the verdicts of all followers on a token with these claims, in their order. `patience`:
   * milliseconds for each.
   */
  verdicts(claims: RevocableClaims, patience?: number): Promise<number[]>;
  /** Resolves when all followers have a valid lease. */
  settled(): Promise<void>;
  /** Resolves when all followers refuse a token with these claims as revoked; rejects if one accepts it. */
  refused(claims: RevocableClaims): Promise<void>;
}

export interface FollowedOptions extends Pick<PairOptions, 'settings' | 'store'> {
  readonly authz: number;
  readonly followers: number;
}

/** The default lease of followers. */
const AS_USUAL = { revocations: {} };

export async function startFollowed(
  kind: StoreKind,
  { authz, followers: number, settings = AS_USUAL, ...options }: FollowedOptions,
): Promise<FollowedFlow> {
  await using parts = new AsyncDisposableStack();
  const start = options.store === undefined ? startFlowOn.bind(undefined, kind) : startFlow;
  const flow = parts.use(await start({ ...options, settings, authz }));
  const { pair, stores } = flow;
  const client = await pair.addClient('revocations:follow');
  const epoch = (await stores.revocations.epoch(false)) ?? '';
  const followers = new Set<FollowerProcess>();
  let owner = parts;

  async function started(at: string): Promise<FollowerProcess> {
    const args = [pair.issuer, at, client.id, client.secret];
    const running = await startProcess(process.execPath, [...NODE_FLAGS, FOLLOWER, ...args], {
      env: NODE,
      ready: (output) => PORT.test(output),
    });
    const follower = new FollowerProcess(running, () => followers.delete(follower));
    return owner.use(follower);
  }
  async function follow(at: string): Promise<FollowerProcess> {
    const follower = await started(at);
    followers.add(follower);
    return follower;
  }
  const ofServer = (n: number) => started(pair.authz[n % authz]?.url ?? '');
  const first = await allStarted(Array.from({ length: number }, (_, n) => ofServer(n)));
  for (const follower of first) followers.add(follower);

  const claims = (changes: Partial<RevocableClaims> = {}): RevocableClaims => ({
    jti: randomUUID(),
    kid: randomUUID(),
    sub: randomUUID(),
    client_id: randomUUID(),
    client_gen: 0,
    epoch,
    ...changes,
  });
  const verdicts = (token: RevocableClaims, patience?: number) =>
    Promise.all(Array.from(followers, (follower) => follower.verdict(token, patience)));
  const settled = () =>
    eventually(async () => {
      const said = await verdicts(claims());
      if (said.some((status) => status !== 200)) throw new Error(`they say ${said.join()}`);
    });
  const refused = async (token: RevocableClaims) => {
    for (let said = [0]; said.some((status) => status !== 401); said = await verdicts(token)) {
      if (said.includes(200)) throw new Error(`taken though revoked: ${said.join()}`);
    }
  };
  await settled();
  owner = parts.move();
  return {
    flow,
    client,
    followers,
    follow,
    claims,
    verdicts,
    settled,
    refused,
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** The results of revocations. */
export interface Acknowledged {
  /** Milliseconds of each revocation. */
  readonly took: readonly number[];
  /** Counts of the followers' verdicts right after the acknowledgement. */
  readonly said: Readonly<Record<number, number>>;
}

/**
 * Revokes tokens at the endpoints of the authorization servers alternately, `atOnce` at a time, and asks
 * all followers right after each acknowledgement. Rejects if one of them accepts a revoked token.
 */
export async function revokeAll(
  { flow, claims, verdicts }: FollowedFlow,
  { revocations, atOnce = 1 }: { readonly revocations: number; readonly atOnce?: number },
): Promise<Acknowledged> {
  const { pair } = flow;
  const client = await pair.addClient();
  const took: number[] = [];
  const said: Record<number, number> = {};
  let next = 0;

  async function one(n: number): Promise<void> {
    const jti = randomUUID();
    const token = await flow.forge({ client_id: client.id, jti });
    const revoked = claims({ jti });
    const began = performance.now();
    const form = { token };
    const { status } = await pair.post('/token/revocation', form, client, n % pair.authz.length);
    if (status !== 200) throw new Error(`the revocation was answered ${status}`);
    took.push(performance.now() - began);
    const all = await verdicts(revoked);
    for (const verdict of all) said[verdict] = (said[verdict] ?? 0) + 1;
    if (all.includes(200)) throw new Error(`taken after the acknowledgement: ${all.join()}`);
  }
  const inTurn = async () => {
    while (next < revocations) await one(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, inTurn));
  return { took, said };
}

/** The quantile of these values for `part` (0 to 1). */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
