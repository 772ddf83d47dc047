import type { SpaceConfig } from '#shared/config/schema.ts';
import type { Assurance } from '#shared/people/access/assurance.ts';
import type { GnapRegistration } from '#shared/stores/oauth/clients.ts';
import type { GrantedAccess } from './access.ts';

/** A token as it is about to be issued. */
export interface TokenOrder extends GrantedAccess {
  readonly clientId: string;
  /** The client's generation when it asked. */
  readonly generation: number;
  /** The key that binds it, and its management. */
  readonly key: GnapRegistration['key'];
  /** Bound to no key. */
  readonly bearer: boolean;
  readonly label?: string;
  readonly space: Pick<SpaceConfig, 'url' | 'alg'>;
  /** Absent: the client acts for itself. */
  readonly person?: {
    readonly accountId: string;
    readonly grantId: string;
    /** NumericDate of the sign-in. */
    readonly authTime: number;
    readonly assurance: Assurance;
    /** The identifier of the record of the grant. */
    readonly record: string;
  };
}
