import type { SpaceConfig } from '#shared/config/schema.ts';
import type { Assurance } from '#shared/people/access/assurance.ts';
import type { GnapRegistration } from '#shared/stores/oauth/clients.ts';
import type { GrantedAccess } from './access.ts';

/** A token as it is about to be issued. */
export interface TokenOrder extends GrantedAccess {
  readonly clientId: string;
  /** The client's generation when it asked. */
  readonly generation: number;
  /** The key to which the token and its management are bound. */
  readonly key: GnapRegistration['key'];
  /** Whether the token is bound to no key. */
  readonly bearer: boolean;
  readonly label?: string;
  readonly space: Pick<SpaceConfig, 'url' | 'alg'>;
  /** Absent if the client acts for itself. */
  readonly person?: {
    readonly accountId: string;
    readonly grantId: string;
    /** The time of the sign-in as NumericDate. */
    readonly authTime: number;
    readonly assurance: Assurance;
    /** The identifier of the grant's record. */
    readonly record: string;
  };
}
