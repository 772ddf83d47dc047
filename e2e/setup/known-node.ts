/** Run before each suite: those that load oidc-provider do not repeat its warning about our Node. */
import { silenceKnownNode } from '../../authz-server/start/known-node.ts';

silenceKnownNode(console, process.versions.node);
