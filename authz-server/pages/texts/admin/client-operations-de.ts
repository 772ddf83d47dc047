import type { clientOperationsEn } from './client-operations-en.ts';

export const clientOperationsDe: typeof clientOperationsEn = {
  'client add': {
    title: 'Anwendung registrieren',
    text: 'Eine Anwendung oder eine Maschine bekommt eine Kennung und, wenn nötig, ein Geheimnis, das einmal gezeigt wird.',
    done: 'Die Anwendung ist registriert. Ein Geheimnis wird nur dieses eine Mal gezeigt: bewahren Sie es jetzt auf.',
  },
  'client list': {
    title: 'Alle Anwendungen',
    text: 'Die registrierten Anwendungen (Clients von OAuth), nach client_id.',
  },
  'client show': { title: 'Eine Anwendung', text: 'Die Einstellungen einer Anwendung.' },
  'client access': {
    title: 'Zugriffe einer Anwendung',
    text: 'Was Personen der Anwendung erlaubt haben. Sie können jedes davon beenden. Was am längsten gilt, steht zuerst.',
  },
  'client set': {
    title: 'Anwendung ändern',
    text: 'Was Sie angeben, ersetzt, was da war. Felder, die Sie leer lassen, bleiben, wie sie sind.',
    done: 'Die Anwendung ist geändert.',
  },
  'client secret': {
    title: 'Neues Geheimnis für eine Anwendung',
    text: 'Die Anwendung bekommt ein neues Geheimnis, das einmal gezeigt wird. Das alte gilt noch so lange, wie Sie es sagen.',
    done: 'Die Anwendung hat ein neues Geheimnis. Es wird nur dieses eine Mal gezeigt: Bewahren Sie es jetzt auf.',
  },
  'client end': {
    title: 'Alle Zugriffe einer Anwendung beenden',
    text: 'Alle Einwilligungen, Zugriffe und Tokens der Anwendung enden sofort. Sie bleibt registriert; wer sie benutzt, wird neu gefragt.',
    done: 'Alle Zugriffe der Anwendung sind beendet.',
  },
  'client remove': {
    title: 'Anwendung entfernen',
    text: 'Die Anwendung, alle ihre Zugriffe und alle ihre Tokens enden sofort. Das lässt sich nicht rückgängig machen.',
    done: 'Die Anwendung ist entfernt.',
  },
};
