import type { ApiKeys } from './credentials/api-keys.ts';
import type { Artefacts } from './oauth/artefacts.ts';
import type { Audit } from './audit/audit.ts';
import type { CacheReports } from './cache/cache-reports.ts';
import type { Clients } from './oauth/clients.ts';
import type { Declared } from './declared/declared.ts';
import type { Followers } from './revocation/followers.ts';
import type { Invalidations } from './cache/invalidations.ts';
import type { Kept } from './trees/kept.ts';
import type { Keys } from './keys/keys.ts';
import type { LastBackup } from './last-backup/last-backup.ts';
import type { Limits } from './limits/limits.ts';
import type { Logouts } from './logout/logouts.ts';
import type { Outbox } from './mail/outbox.ts';
import type { Passkeys } from './credentials/passkeys.ts';
import type { People } from './people/people.ts';
import type { Proofs } from './authentication/proofs.ts';
import type { Push } from './push/push.ts';
import type { PublicKeys } from './credentials/public-keys.ts';
import type { Replay } from './authentication/replay.ts';
import type { Revocations } from './revocation/revocations.ts';
import type { SecondFactors } from './credentials/second-factors.ts';
import type { Sessions } from './authentication/sessions.ts';
import type { SpentTokens } from './authentication/spent-tokens.ts';
import type { TokenKeys } from './keys/token-keys.ts';
import type { Trees } from './trees/trees.ts';
import type { Need } from './outage/need.ts';
import type { UseCounts } from './authentication/use-counts.ts';

/** The parts whose changes the audit log records. */
export type Recorded =
  | 'apiKeys'
  | 'artefacts'
  | 'clients'
  | 'gatewayKeys'
  | 'invalidations'
  | 'keys'
  | 'logouts'
  | 'outbox'
  | 'passkeys'
  | 'people'
  | 'publicKeys'
  | 'revocations'
  | 'secondFactors'
  | 'tokenKeys';

/**
 * All data of the pair. Both engines, `sqlite` and `postgres` (alone and beside Redis), pass one contract suite. Every
 * verb rejects with `StoreUnavailable` if the store cannot answer; callers then answer 503.
 */
export interface Stores extends AsyncDisposable {
  readonly apiKeys: ApiKeys;
  readonly artefacts: Artefacts;
  readonly audit: Audit;
  readonly cacheReports: CacheReports;
  readonly clients: Clients;
  readonly declared: Declared;
  readonly followers: Followers;
  /** Keys for the gateway's statements, which can sign no token. */
  readonly gatewayKeys: Keys;
  readonly invalidations: Invalidations;
  readonly kept: Kept;
  /** Keys for the authorization server's tokens. */
  readonly keys: Keys;
  readonly lastBackup: LastBackup;
  readonly limits: Limits;
  readonly logouts: Logouts;
  readonly outbox: Outbox;
  readonly passkeys: Passkeys;
  readonly people: People;
  readonly proofs: Proofs;
  readonly publicKeys: PublicKeys;
  readonly push: Push;
  readonly replay: Replay;
  readonly revocations: Revocations;
  readonly secondFactors: SecondFactors;
  readonly sessions: Sessions;
  readonly spentTokens: SpentTokens;
  readonly tokenKeys: TokenKeys;
  readonly trees: Trees;
  readonly useCounts: UseCounts;
  /**
   * Returns a part for one change: its first change also appends `texts` to the audit log, both or neither. A verb that
   * changes nothing appends nothing. Of artefacts, only kinds that a person sees are recorded.
   */
  recorded<Part extends Recorded>(part: Part, ...texts: readonly string[]): Stores[Part];
  /**
   * Runs `work` on the same stores as one transaction: all changes of `Recorded` parts, of `declared` and of the audit
   * log, or none. `work` must be short: with SQLite no other process writes meanwhile. With PostgreSQL others may write,
   * so what `work` has read and not changed may be outdated. If other writers deadlock with it, `work` runs again: it
   * must have no effect but on these stores. Within `work`, another `together` belongs to the same transaction.
   */
  together<T>(work: (stores: Stores) => Promise<T>): Promise<T>;
  /** Resolves if the store answers and, for `all`, takes a write without an effect: the question of `/health/ready`. */
  ping(need?: Need): Promise<void>;
  /** Throws if an operation failed in the last seconds, even if others work. Does not ask the store. */
  check(need: Need): void;
  /** Removes all expired data in small batches. Resolves to the number of rows or keys. */
  sweep(): Promise<number>;
}
