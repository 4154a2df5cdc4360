/* global SwaggerUIBundle */
// The page of the explorer. In the demo, the service answers what to sign in with and an example for each operation.

const answered = async (response) => ((await response).ok ? (await response).json() : undefined)

const signIn = async (demo, resource) => {
  const form = { grant_type: 'client_credentials', client_id: demo.client_id, client_secret: demo.client_secret }
  const body = new URLSearchParams({ ...form, scope: 'read write crm outcomes', resource })
  return (await answered(fetch('/oauth/token', { method: 'POST', body })))?.access_token
}

const fillIn = (operation, { path = {}, query = {}, body }) => {
  for (const parameter of operation.parameters ?? []) {
    const value = { path, query }[parameter.in]?.[parameter.name]
    if (value !== undefined) parameter.example = value
  }
  for (const [type, content] of Object.entries(operation.requestBody?.content ?? {})) {
    if (body === undefined) continue
    if (type === 'application/x-www-form-urlencoded')
      for (const [name, value] of Object.entries(body)) content.schema.properties[name].example = value
    else content.example = body
  }
}

const ofOrganisation = '/admin/v1/organisations/{organisation_id}/'

// Swagger UI shows only the first few of more than some 130 operations, so the page has one part of them at a time.
const areas = {
  api: { title: 'For servers and pages', has: (path) => !path.startsWith('/admin/') },
  organisation: { title: 'For the operator: one organisation', has: (path) => path.startsWith(ofOrganisation) },
  installation: {
    title: 'For the operator: everything else',
    has: (path) => path.startsWith('/admin/') && !path.startsWith(ofOrganisation),
  },
}

const showAreas = (chosen) => {
  const list = window.document.createElement('nav')
  list.ariaLabel = 'Parts of the API'
  list.style.cssText =
    'font: 1rem sans-serif; display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; padding: 1rem 1.75rem'
  for (const [name, { title }] of Object.entries(areas)) {
    const link = window.document.createElement('a')
    link.href = `?area=${name}`
    link.textContent = title
    if (name === chosen) link.ariaCurrent = 'page'
    list.append(link)
  }
  window.document.getElementById('explorer').before(list)
}

const start = async () => {
  const [document, demo] = await Promise.all([
    answered(fetch('/api/v1/openapi.json')),
    answered(fetch('/api/v1/explorer/demo.json')),
  ])
  if (document === undefined) {
    window.document.getElementById('explorer').textContent = 'The OpenAPI document was not made. Run npm run openapi.'
    return
  }
  const asked = new URLSearchParams(location.search).get('area')
  const area = Object.hasOwn(areas, asked ?? '') ? asked : 'api'
  showAreas(area)
  document.paths = Object.fromEntries(Object.entries(document.paths).filter(([path]) => areas[area].has(path)))
  if (area !== 'api') delete document.webhooks
  const resource = `${document.servers[0].url}/api/v1`
  const token = demo && (await signIn(demo, resource))
  document.servers = [{ url: location.origin }]
  if (demo) {
    document.info.description = `${document.info.description ?? ''}\n\nSigned in to the demo organisation, and as the operator.`
    for (const methods of Object.values(document.paths))
      for (const operation of Object.values(methods)) fillIn(operation, demo.examples[operation.operationId] ?? {})
  }

  SwaggerUIBundle({
    spec: document,
    dom_id: '#explorer',
    deepLinking: true,
    tryItOutEnabled: true,
    syntaxHighlight: { activated: false },
    requestInterceptor: (request) => {
      const { pathname } = new URL(request.url, location.origin)
      if (pathname === '/oauth/token' && !String(request.body).includes('resource='))
        request.body = `${request.body}&resource=${encodeURIComponent(resource)}`
      const bearer = pathname.startsWith('/admin/') ? demo?.operator_key : token
      if (bearer && pathname !== '/oauth/token' && !request.headers.Authorization)
        request.headers.Authorization = `Bearer ${bearer}`
      return request
    },
  })
}

void start()
