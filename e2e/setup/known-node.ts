/** Run before each suite, so that oidc-provider does not repeat its warning about our Node. */
import { silenceKnownNode } from '../../authz-server/start/known-node.ts';

silenceKnownNode(console, process.versions.node);
