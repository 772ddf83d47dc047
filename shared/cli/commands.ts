import type { Command } from './arguments/command.ts';
import { adminLink } from './commands/admin-link.ts';
import { apply } from './commands/apply.ts';
import { auditFollow, auditList, auditVerify } from './commands/audit.ts';
import { backup, backupCheck, backupRecord } from './commands/backup.ts';
import { cacheBan, cacheBans, cachePurge, cacheStats } from './commands/cache.ts';
import {
  clientAccess,
  clientAdd,
  clientEnd,
  clientList,
  clientRemove,
  clientSecret,
  clientSet,
  clientShow,
} from './commands/client.ts';
import { completion } from './commands/completion.ts';
import { configCheck, configInit, configPrint, configSchemaCommand } from './commands/config.ts';
import { directoryExport, directoryImport } from './commands/directory.ts';
import { explain } from './commands/explain.ts';
import { gnapRequest } from './commands/gnap-request.ts';
import { keyAdd, keyList, keyRemove, keyRotate } from './commands/key.ts';
import { signingKeysList, signingKeysRotate } from './commands/signing-keys.ts';
import { login, logout } from './commands/login.ts';
import { mailTest } from './commands/try-mail.ts';
import {
  privateTokenGet,
  privateTokenKeys,
  privateTokenRedeem,
  privateTokenRotate,
} from './commands/private-token.ts';
import { push } from './commands/push.ts';
import { redisChange } from './commands/redis-change.ts';
import { realmList } from './commands/realm-list.ts';
import { request } from './commands/request.ts';
import { restore } from './commands/restore.ts';
import { serverReady } from './commands/server-ready.ts';
import { revocationStatus, serverStatus } from './commands/server-status.ts';
import { signatureExplain } from './commands/signature-explain.ts';
import { tokenExplain, tokenGet, tokenRevoke } from './commands/token.ts';
import {
  userAccess,
  userAdd,
  userDisable,
  userEnable,
  userEnd,
  userInvite,
  userKerberos,
  userList,
  userPasswd,
  userRecover,
  userRemove,
  userSet,
  userShow,
} from './commands/user.ts';
import { userKeyAdd, userKeyList, userKeyRemove } from './commands/user-key.ts';
import { userPasskeyList, userPasskeyRemove } from './commands/user-passkey.ts';
import { userSecondFactor, userSecondFactorRemove } from './commands/user-second-factor.ts';
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
  adminLink,
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
  serverReady,
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
