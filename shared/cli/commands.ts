import type { Command } from './arguments/command.ts';
import { apply } from './commands/apply.ts';
import { auditFollow } from './commands/audit-follow.ts';
import { auditList } from './commands/audit-list.ts';
import { auditVerify } from './commands/audit-verify.ts';
import { backup } from './commands/backup.ts';
import { backupCheck } from './commands/backup-check.ts';
import { backupRecord } from './commands/backup-record.ts';
import { cacheBan } from './commands/cache-ban.ts';
import { cacheBans } from './commands/cache-bans.ts';
import { cachePurge } from './commands/cache-purge.ts';
import { cacheStats } from './commands/cache-stats.ts';
import { clientAccess } from './commands/client-access.ts';
import { clientAdd } from './commands/client-add.ts';
import { clientEnd } from './commands/client-end.ts';
import { clientList } from './commands/client-list.ts';
import { clientRemove } from './commands/client-remove.ts';
import { clientSecret } from './commands/client-secret.ts';
import { clientSet } from './commands/client-set.ts';
import { clientShow } from './commands/client-show.ts';
import { completion } from './commands/completion.ts';
import { configCheck } from './commands/config-check.ts';
import { configInit } from './commands/config-init.ts';
import { configPrint } from './commands/config-print.ts';
import { configSchemaCommand } from './commands/config-schema.ts';
import { directoryExport } from './commands/directory-export.ts';
import { directoryImport } from './commands/directory-import.ts';
import { explain } from './commands/explain.ts';
import { gnapRequest } from './commands/gnap-request.ts';
import { keyAdd } from './commands/key-add.ts';
import { keyList } from './commands/key-list.ts';
import { keyRemove } from './commands/key-remove.ts';
import { keyRotate } from './commands/key-rotate.ts';
import { signingKeysList } from './commands/signing-keys-list.ts';
import { signingKeysRotate } from './commands/signing-keys-rotate.ts';
import { login } from './commands/login.ts';
import { logout } from './commands/logout.ts';
import { mailTest } from './commands/try-mail.ts';
import { privateTokenKeys } from './commands/private-token-keys.ts';
import { privateTokenRotate } from './commands/private-token-rotate.ts';
import { privateTokenGet } from './commands/private-token-get.ts';
import { privateTokenRedeem } from './commands/private-token-redeem.ts';
import { push } from './commands/push.ts';
import { redisChange } from './commands/redis-change.ts';
import { realmList } from './commands/realm-list.ts';
import { request } from './commands/request.ts';
import { restore } from './commands/restore.ts';
import { revocationStatus } from './commands/revocation-status.ts';
import { serverStatus } from './commands/server-status.ts';
import { signatureExplain } from './commands/signature-explain.ts';
import { tokenExplain } from './commands/token-explain.ts';
import { tokenGet } from './commands/token-get.ts';
import { tokenRevoke } from './commands/token-revoke.ts';
import { userAccess } from './commands/user-access.ts';
import { userAdd } from './commands/user-add.ts';
import { userDisable, userEnable } from './commands/user-disable.ts';
import { userEnd } from './commands/user-end.ts';
import { userInvite } from './commands/user-invite.ts';
import { userKerberos } from './commands/user-kerberos.ts';
import { userKeyAdd } from './commands/user-key-add.ts';
import { userKeyList } from './commands/user-key-list.ts';
import { userKeyRemove } from './commands/user-key-remove.ts';
import { userList } from './commands/user-list.ts';
import { userPasskeyList } from './commands/user-passkey-list.ts';
import { userPasskeyRemove } from './commands/user-passkey-remove.ts';
import { userPasswd } from './commands/user-passwd.ts';
import { userRecover } from './commands/user-recover.ts';
import { userRemove } from './commands/user-remove.ts';
import { userSecondFactor, userSecondFactorRemove } from './commands/user-second-factor.ts';
import { userSet } from './commands/user-set.ts';
import { userShow } from './commands/user-show.ts';
import { whoami } from './commands/whoami.ts';

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  clientAdd,
  clientList,
  clientShow,
  clientAccess,
  clientSet,
  clientSecret,
  clientEnd,
  clientRemove,
  userAdd,
  userInvite,
  userList,
  userShow,
  userAccess,
  userSet,
  userPasswd,
  userRecover,
  userKerberos,
  userDisable,
  userEnable,
  userEnd,
  userRemove,
  userKeyAdd,
  userKeyList,
  userKeyRemove,
  userPasskeyList,
  userPasskeyRemove,
  userSecondFactor,
  userSecondFactorRemove,
  mailTest,
  keyAdd,
  keyList,
  keyRotate,
  keyRemove,
  realmList,
  login,
  whoami,
  logout,
  tokenGet,
  tokenExplain,
  tokenRevoke,
  request,
  gnapRequest,
  push,
  explain,
  signatureExplain,
  privateTokenGet,
  privateTokenRedeem,
  serverStatus,
  revocationStatus,
  cacheStats,
  cachePurge,
  cacheBan,
  cacheBans,
  auditList,
  auditFollow,
  auditVerify,
  signingKeysList,
  signingKeysRotate,
  privateTokenKeys,
  privateTokenRotate,
  backupCheck,
  backupRecord,
  redisChange,
  backup,
  restore,
  directoryExport,
  directoryImport,
  apply,
  configInit,
  configCheck,
  configPrint,
  configSchemaCommand,
  completion(() => COMMANDS),
];
