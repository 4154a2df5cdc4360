import { z } from 'zod'

/** A whole number in an address is written with digits alone: `1e2`, `0x10`, `+5` and ` 10` are none. */
export const inDigits = <Schema extends z.ZodType<number>>(schema: Schema) =>
  z.preprocess((text) => (typeof text === 'string' && /^\d+$/.test(text) ? Number(text) : text), schema)

export const pageSize = ({ most = 200, byDefault = 50 } = {}) => inDigits(z.int().min(1).max(most)).default(byDefault)
