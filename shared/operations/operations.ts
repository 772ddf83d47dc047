import { listAudit } from './audit/audit-list.ts';
import { banCached } from './cache/cache-ban.ts';
import { listBans } from './cache/cache-bans.ts';
import { purgeCached } from './cache/cache-purge.ts';
import { showCaches } from './cache/cache-stats.ts';
import { showClientAccess } from './clients/client-access.ts';
import { addClient } from './clients/client-add.ts';
import { endAccessOfClient } from './clients/client-end.ts';
import { listClients } from './clients/client-list.ts';
import { removeClient } from './clients/client-remove.ts';
import { renewSecret } from './clients/client-secret.ts';
import { setClient } from './clients/client-set.ts';
import { showClient } from './clients/client-show.ts';
import { addKey } from './keys/key-add.ts';
import { listKeys } from './keys/key-list.ts';
import { removeKey } from './keys/key-remove.ts';
import { rotateApiKey } from './keys/key-rotate.ts';
import { listPrivateTokenKeys } from './keys/private-token-keys.ts';
import { rotatePrivateTokenKey } from './keys/private-token-rotate.ts';
import { listSigningKeys } from './keys/signing-keys-list.ts';
import { rotateSigningKey } from './keys/signing-keys-rotate.ts';
import type { Operation } from './operation.ts';
import { showAccess } from './people/user-access.ts';
import { addUser } from './people/user-add.ts';
import { disableUser, enableUser } from './people/user-disable.ts';
import { endUser } from './people/user-end.ts';
import { inviteUser } from './people/user-invite.ts';
import { addKeyOfUser } from './people/user-key-add.ts';
import { listKeysOfUsers } from './people/user-key-list.ts';
import { removeKeyOfUser } from './people/user-key-remove.ts';
import { nameUserInKerberos } from './people/user-kerberos.ts';
import { listPasskeys } from './people/user-passkey-list.ts';
import { removePasskeyOfUser } from './people/user-passkey-remove.ts';
import { listUsers } from './people/user-list.ts';
import { renewPassword } from './people/user-passwd.ts';
import { recoverUser } from './people/user-recover.ts';
import { removeUser } from './people/user-remove.ts';
import { removeSecondFactor, showSecondFactor } from './people/user-second-factor.ts';
import { setUser } from './people/user-set.ts';
import { showUser } from './people/user-show.ts';
import { showServers } from './servers/server-status.ts';
import { listRealms } from './spaces/realm-list.ts';
import { showRevocationStatus } from './tokens/revocation-status.ts';
import { revokeToken } from './tokens/token-revoke.ts';

/** All operations of operators: at the command line, over HTTP and on pages. */
export const OPERATIONS: readonly Operation[] = [
  addClient,
  listClients,
  showClient,
  showClientAccess,
  setClient,
  renewSecret,
  endAccessOfClient,
  removeClient,
  listUsers,
  showUser,
  showAccess,
  addUser,
  inviteUser,
  setUser,
  renewPassword,
  recoverUser,
  nameUserInKerberos,
  disableUser,
  enableUser,
  endUser,
  listKeysOfUsers,
  addKeyOfUser,
  removeKeyOfUser,
  listPasskeys,
  removePasskeyOfUser,
  showSecondFactor,
  removeSecondFactor,
  removeUser,
  addKey,
  listKeys,
  rotateApiKey,
  removeKey,
  listSigningKeys,
  rotateSigningKey,
  listPrivateTokenKeys,
  rotatePrivateTokenKey,
  showRevocationStatus,
  revokeToken,
  listRealms,
  showCaches,
  purgeCached,
  banCached,
  listBans,
  listAudit,
  showServers,
];
