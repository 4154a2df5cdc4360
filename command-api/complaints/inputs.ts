import { z } from 'zod'

/** The address of an organisation's complaints. */
export const complaintsAddress = '/admin/v1/organisations/:organisation_id/complaints'

/** In the words of the customer or of the team: under the key of the person. */
export const text = z.string().trim().min(1).max(2_000)

export const nullable = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().default(null)
