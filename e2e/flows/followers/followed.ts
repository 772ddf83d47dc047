/** The pair with servers elsewhere that follow its revocations, and what they say at the moment of an acknowledgement. */
import { randomUUID } from 'node:crypto';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import { eventually } from '#shared/stores/contract/eventually.ts';
import { NODE_FLAGS } from '#shared/start/options.js';
import { NODE, type RunningProcess, startProcess } from '../../parts/process.ts';
import type { PairOptions } from '../../pair/pair.ts';
import { type Client, type Flow, startFlow, startFlowOn, type StoreKind } from '../flow.ts';

const FOLLOWER = new URL('follower.ts', import.meta.url).pathname;
const PORT = /listening at (\d+)\n/;
/** Milliseconds: one that stands still says nothing. */
const SILENT = 1_000;

/** One server elsewhere. */
export class FollowerProcess {
  readonly process: RunningProcess;

  constructor(process: RunningProcess) {
    this.process = process;
  }

  /** What it says of such a token: 200, 401, 503, or 0 when it says nothing. */
  async verdict(claims: RevocableClaims): Promise<number> {
    const port = PORT.exec(this.process.output)?.[1];
    const url = `http://127.0.0.1:${port}/?${encodeURIComponent(JSON.stringify(claims))}`;
    const signal = AbortSignal.timeout(SILENT);
    return fetch(url, { signal }).then(
      ({ status }) => status,
      () => 0,
    );
  }
}

export interface FollowedFlow extends AsyncDisposable {
  readonly flow: Flow;
  /** Of whoever follows. */
  readonly client: Client;
  readonly followers: readonly FollowerProcess[];
  /** One more follower, of the authorization server at that address. */
  follow(authz: string): Promise<FollowerProcess>;
  /** Claims of a token that nothing has revoked. */
  claims(changes?: Partial<RevocableClaims>): RevocableClaims;
  /** Resolves when all of them trust what they know. */
  settled(): Promise<void>;
}

export interface FollowedOptions extends Pick<PairOptions, 'settings' | 'store'> {
  readonly authz: number;
  readonly followers: number;
}

/** With the lease that followers have where nothing else is said. */
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
  const followers: FollowerProcess[] = [];
  let owner = parts;

  async function follow(at: string): Promise<FollowerProcess> {
    const args = [pair.issuer, at, client.id, client.secret];
    const started = await startProcess(process.execPath, [...NODE_FLAGS, FOLLOWER, ...args], {
      env: NODE,
      ready: (output) => PORT.test(output),
    });
    const follower = new FollowerProcess(owner.use(started));
    followers.push(follower);
    return follower;
  }
  for (let n = 0; n < number; n += 1) await follow(pair.authz[n % authz]?.url ?? '');

  const claims = (changes: Partial<RevocableClaims> = {}): RevocableClaims => ({
    jti: randomUUID(),
    kid: randomUUID(),
    sub: randomUUID(),
    client_id: randomUUID(),
    client_gen: 0,
    epoch,
    ...changes,
  });
  const settled = () =>
    eventually(async () => {
      const said = await Promise.all(followers.map((follower) => follower.verdict(claims())));
      if (said.some((status) => status !== 200)) throw new Error(`they say ${said.join()}`);
    });
  await settled();
  owner = parts.move();
  return {
    flow,
    client,
    followers,
    follow,
    claims,
    settled,
    [Symbol.asyncDispose]: () => owner.disposeAsync(),
  };
}

/** What became of revocations. */
export interface Acknowledged {
  /** Milliseconds that each took. */
  readonly took: readonly number[];
  /** What followers said right after the acknowledgement, and how often. */
  readonly said: Readonly<Record<number, number>>;
}

/**
 * Has tokens revoked by the endpoint of each authorization server in turn, `atOnce` at a time, and asks all followers the
 * moment that it is acknowledged. Rejects when one of them takes a token that was.
 */
export async function revokeAll(
  { flow, followers, claims }: FollowedFlow,
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
    const verdicts = await Promise.all(followers.map((follower) => follower.verdict(revoked)));
    for (const verdict of verdicts) said[verdict] = (said[verdict] ?? 0) + 1;
    if (verdicts.includes(200))
      throw new Error(`taken after the acknowledgement: ${verdicts.join()}`);
  }
  const inTurn = async () => {
    while (next < revocations) await one(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, inTurn));
  return { took, said };
}

/** The value below which that part of them is. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
