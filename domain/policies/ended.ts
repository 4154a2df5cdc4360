import type { PolicyRecord } from './record.ts'

/** Cover has come to an end, for whatever reason. */
export const hasEnded = ({ status }: Pick<PolicyRecord, 'status'>): boolean =>
  status === 'cancelled' || status === 'expired' || status === 'lapsed' || status === 'claimed'
