import type { ApiKeys } from './api-keys.ts';
import type { Artefacts } from './artefacts.ts';
import type { CacheReports } from './cache-reports.ts';
import type { Clients } from './clients.ts';
import type { Followers } from './followers.ts';
import type { Invalidations } from './invalidations.ts';
import type { Kept } from './kept.ts';
import type { Keys } from './keys.ts';
import type { Limits } from './limits.ts';
import type { People } from './people.ts';
import type { PublicKeys } from './public-keys.ts';
import type { Replay } from './replay.ts';
import type { Revocations } from './revocations.ts';
import type { Sessions } from './sessions.ts';
import type { SpentTokens } from './spent-tokens.ts';
import type { TokenKeys } from './token-keys.ts';
import type { Trees } from './trees.ts';
import type { UseCounts } from './use-counts.ts';

/**
 * All that the pair remembers. Two implementations, `sqlite` and `redis`, pass one contract suite.
 * Every verb rejects with `StoreUnavailable` when the store cannot answer; callers fail closed (503).
 */
export interface Stores extends AsyncDisposable {
  readonly apiKeys: ApiKeys;
  readonly artefacts: Artefacts;
  readonly cacheReports: CacheReports;
  readonly clients: Clients;
  readonly followers: Followers;
  /** Of the gateway's statements; with none of them can a token be signed. */
  readonly gatewayKeys: Keys;
  readonly invalidations: Invalidations;
  readonly kept: Kept;
  /** Of the authorization server's tokens. */
  readonly keys: Keys;
  readonly limits: Limits;
  readonly people: People;
  readonly publicKeys: PublicKeys;
  readonly replay: Replay;
  readonly revocations: Revocations;
  readonly sessions: Sessions;
  readonly spentTokens: SpentTokens;
  readonly tokenKeys: TokenKeys;
  readonly trees: Trees;
  readonly useCounts: UseCounts;
  /** Resolves when the store takes a write now, which leaves nothing; the question behind `/health/ready`. */
  ping(): Promise<void>;
  /** Removes all that has expired, in small batches; resolves to the number of rows or keys removed. */
  sweep(): Promise<number>;
}
