import { createHash } from 'node:crypto'
import { extname } from 'node:path'
import type { Pool } from 'pg'
import type { OrganisationId } from '#domain/values.ts'
import { sql } from '#infra/postgres/postgres.ts'

/** A file that customers are given. Its hash tells it from every other. */
export type DocumentFile = { readonly sha256: string; readonly media_type: string; readonly content: Buffer }

const mediaTypes: Readonly<Record<string, string>> = {
  '.pdf': 'application/pdf',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
}

export const mostDocumentBytes = 2_000_000

export const documentFileTypes = Object.keys(mediaTypes)

/** A name of a file, by which it is known what it is. */
export const documentFileName = ({ sha256, media_type }: Omit<DocumentFile, 'content'>): string => {
  const [ending = ''] = Object.entries(mediaTypes).find(([, type]) => type === media_type) ?? []
  return `documents/${sha256.slice(0, 16)}${ending}`
}

/** Undefined when the name ends in no type that we serve: one that runs in a browser is none. */
export const documentFile = (name: string, content: Buffer): DocumentFile | undefined => {
  const media_type = mediaTypes[extname(name).toLowerCase()]
  return media_type === undefined ? undefined : { sha256: sha256Of(content), media_type, content }
}

const sha256Of = (content: Buffer): string => createHash('sha256').update(content).digest('hex')

export type DocumentFiles = {
  /** Keeps a file of an organisation for ever; keeping it again changes nothing. */
  readonly keep: (organisation_id: OrganisationId, file: DocumentFile) => Promise<void>
  readonly read: (organisation_id: OrganisationId, sha256: string) => Promise<DocumentFile | undefined>
}

/** Files are too large for events, which name them by their hash. */
export const makeDocumentFiles = (pool: Pool): DocumentFiles => ({
  keep: async (organisation_id, { sha256, media_type, content }) => {
    await pool.query(sql`
      insert into document_file (organisation_id, sha256, media_type, content)
      values (${organisation_id}, ${sha256}, ${media_type}, ${content})
      on conflict do nothing`)
  },
  read: async (organisation_id, sha256) => {
    const { rows } = await pool.query<DocumentFile>(sql`
      select sha256, media_type, content from document_file
      where organisation_id = ${organisation_id} and sha256 = ${sha256}`)
    return rows[0]
  },
})
