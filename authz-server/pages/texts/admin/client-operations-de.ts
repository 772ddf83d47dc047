import type { clientOperationsEn } from './client-operations-en.ts';

export const clientOperationsDe: typeof clientOperationsEn = {
  'client add': {
    title: 'Client registrieren',
    text: 'Eine Anwendung oder eine Maschine bekommt eine Kennung und, wenn nötig, ein Geheimnis, das einmal gezeigt wird.',
    done: 'Der Client ist registriert. Ein Geheimnis wird nur dieses eine Mal gezeigt: bewahren Sie es jetzt auf.',
  },
  'client list': { title: 'Alle Clients', text: 'Die registrierten Clients, nach client_id.' },
  'client show': { title: 'Ein Client', text: 'Die Einstellungen eines Clients.' },
  'client access': {
    title: 'Zugriffe eines Clients',
    text: 'Was Personen dem Client erlaubt haben, jeweils mit dem Weg, es zu beenden. Was am längsten gilt, steht zuerst.',
  },
  'client set': {
    title: 'Client ändern',
    text: 'Was Sie angeben, ersetzt, was da war. Felder, die Sie leer lassen, bleiben, wie sie sind.',
    done: 'Der Client ist geändert.',
  },
  'client secret': {
    title: 'Neues Geheimnis für einen Client',
    text: 'Der Client bekommt ein neues Geheimnis, das einmal gezeigt wird. Das alte gilt noch so lange, wie Sie es sagen.',
    done: 'Der Client hat ein neues Geheimnis. Es wird nur dieses eine Mal gezeigt: Bewahren Sie es jetzt auf.',
  },
  'client end': {
    title: 'Alle Zugriffe eines Clients beenden',
    text: 'Alle Einwilligungen, Zugriffe und Tokens des Clients enden sofort. Er bleibt registriert; wer ihn benutzt, wird neu gefragt.',
    done: 'Alle Zugriffe des Clients sind beendet.',
  },
  'client remove': {
    title: 'Einen Client entfernen',
    text: 'Der Client, alle seine Zugriffe und alle seine Tokens enden sofort. Das lässt sich nicht rückgängig machen.',
    done: 'Der Client ist entfernt.',
  },
};
