import type { Known, World } from './world.ts'

/** The addresses that show a record. */
export const addressesOf = ({ kind, id, of = '' }: Known, { admin, organisation_id }: World): readonly string[] => {
  const inFirm = `organisation_id=${organisation_id}`
  switch (kind) {
    case 'application':
      return [
        `/api/v1/applications/${id}`,
        `/api/v1/applications/${id}/quotes`,
        `/admin/v1/team_applications/${id}?${inFirm}`,
        `/admin/v1/team_applications/${id}/timeline?${inFirm}`,
      ]
    case 'quote':
      return [
        `/api/v1/quotes/${id}`,
        `/api/v1/quotes/${id}/before_you_buy`,
        `/admin/v1/quotes/${id}/record?${inFirm}`,
        `/admin/v1/quotes/${id}/evidence?${inFirm}`,
      ]
    case 'policy':
      return [
        `/api/v1/policies/${id}`,
        `/api/v1/policies/${id}/premiums`,
        `/api/v1/policies/${id}/claims`,
        `/admin/v1/policies/${id}/record?${inFirm}`,
        `/admin/v1/policies/${id}/timeline?${inFirm}`,
      ]
    case 'claim':
    case 'premium':
      return [`/api/v1/policies/${of}`]
    case 'payment':
      return [`${admin}/payments/${id}`]
    case 'person':
      return [`${admin}/leads/${id}`, `${admin}/leads/${id}/timeline`, `${admin}/leads/${id}/history`]
    case 'ingest':
      return [`${admin}/ingests/${id}`]
    case 'outcome':
      return ['/api/v1/crm/outcomes/model']
    case 'complaint':
      return [`${admin}/complaints/${id}`]
    case 'member':
      return [`${admin}/memberships/${id}/events`]
    case 'stream':
    case 'message':
      return ['', '/members', '/messages', '/costs'].map((part) => `${admin}/outreach_streams/${id}${part}`)
    case 'integration':
      return [`${admin}/custom_integrations/${id}`]
    case 'connection':
      return [`${admin}/integration_connections/${id}`]
    case 'erased':
      return [`${admin}/erasures/${id}`]
  }
}

export const addressesOfAll = [
  '/api/v1/products',
  '/api/v1/products/simple-life',
  '/api/v1/products/simple-life/journeys',
  '/api/v1/products/simple-life/journeys/standard',
  '/api/v1/products/simple-life/journeys/standard/questions',
  '/api/v1/crm/outcomes/model',
] as const
